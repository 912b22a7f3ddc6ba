package x

func A(t *T) {
	name := ""
	router := New()
	router.GET("/a", func() {
		ok()
	})
}

func B(t *T) {
	name := ""
	router := New()
	router.X = true
	router.GET("/a", func() {
		ok()
	})
}
