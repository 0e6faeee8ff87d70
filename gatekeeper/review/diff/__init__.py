"""What a change of a policy means: which checks turn out otherwise, rule by rule."""
