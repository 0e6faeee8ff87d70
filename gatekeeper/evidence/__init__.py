"""Sources of evidence behind one seam; nothing here judges."""
