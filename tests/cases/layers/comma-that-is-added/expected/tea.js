pour(water, , cup);
