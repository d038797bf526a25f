"""The tables and figures of Pighin & Moschitti 2010, a module for each section."""
