"""Ground a robot stands on."""
