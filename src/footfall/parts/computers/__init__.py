"""Control computers and what feeds them."""
