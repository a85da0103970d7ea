//! Case files, case names, filters and input generators.
