"""Measurements of our own programs, for people to run; nothing here is a timed test."""
