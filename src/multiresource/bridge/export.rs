//! What an administrator installs so that a policy decides when jobs of a partition start.
