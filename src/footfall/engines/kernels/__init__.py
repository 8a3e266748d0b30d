"""From a traced program to text to machine code. Knows neither robots nor time."""
