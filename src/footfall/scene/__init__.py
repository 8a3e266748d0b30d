"""How a machine wants to be seen: shapes and charts as data, without a renderer."""
