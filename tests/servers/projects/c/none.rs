//! Nothing: what is wanted of this package are the sources of its dependencies.
