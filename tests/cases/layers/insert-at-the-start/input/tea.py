import cups
