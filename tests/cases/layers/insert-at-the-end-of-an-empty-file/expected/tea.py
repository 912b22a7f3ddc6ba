import tea
