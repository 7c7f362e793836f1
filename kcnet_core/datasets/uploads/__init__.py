"""A visitor's own data: tables, archives and arrays that are not trusted."""
