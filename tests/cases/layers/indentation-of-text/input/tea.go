func brew() {
	if cold {
		heat()
	}
}
