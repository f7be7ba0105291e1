"""Random defects that no test finds: the file, its line before and after, and why it survives."""

SURVIVORS = []
