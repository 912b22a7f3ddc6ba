pour(
  water,
  null,
  NULL,
  cup,
);
