"""The water runner: a body on four-bar legs that slap the water, or walk on hard ground."""
