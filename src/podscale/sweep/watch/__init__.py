"""Reads pods again and again, and says what each did between two readings. Changes nothing unless it is told to."""
