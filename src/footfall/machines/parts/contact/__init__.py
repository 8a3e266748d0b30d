"""Laws of the force with which ground pushes a foot out."""
