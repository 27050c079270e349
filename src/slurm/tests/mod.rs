//! Rows recorded from a real Slurm, garbage, and commands that misbehave.
