if x:
	if tea:
		boil()
		pour()
