"""Order within sequences and among them: sorting, ranks, runs, search, groups, shuffling."""
