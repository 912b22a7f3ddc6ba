pour(water , cup);
