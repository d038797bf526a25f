"""The tables and figures of Severyn & Moschitti 2012, a module for each section."""
