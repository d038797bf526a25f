"""The experiments of Aiolli, Da San Martino, Sperduti & Moschitti 2007, a module a section."""
