"""Laws that turn a measured motion into a command."""
