"""Laws, not machines."""
