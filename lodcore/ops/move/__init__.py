"""Operators that move rows and sequences: gathering, cutting, joining, expanding, padding, and their structure."""
