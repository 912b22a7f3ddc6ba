def brew(cup):
    heat(cup)
    pour(cup)
