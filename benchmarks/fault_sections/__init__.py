"""The faults of `benchmarks.reliability`, one kind a file. Tests run the same code on less."""
