"""The experiments of Zanzotto & Dell'Arciprete 2012, distributed trees."""
