if x:
	if tea:
		boil()
		stir()
		pour()
