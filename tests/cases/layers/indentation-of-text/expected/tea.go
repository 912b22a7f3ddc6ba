func brew() {
	if cold {
		heat(2)
	}
}
