"""The experiments of Rieck, Brefeld & Krueger 2008, a module a section."""
