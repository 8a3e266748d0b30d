"""Laws of the force with which ground holds a foot back."""
