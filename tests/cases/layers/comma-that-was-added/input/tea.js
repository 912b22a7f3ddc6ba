pour(
  water,
);
