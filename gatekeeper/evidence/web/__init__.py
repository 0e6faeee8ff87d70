"""Addresses and HTTP sessions, shared by the sources that are asked over HTTP."""
