"""Pictures of runs for papers and pages: the evolution chart, the histogram of lengths, a cycle in its graph."""
