"""How long a test waits for what it knows will come."""

# In seconds, and far more than a machine takes that has nothing else to do: one that is busy is no failure.
PATIENCE = 900.0
