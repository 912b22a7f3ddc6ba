pour()
pour()
