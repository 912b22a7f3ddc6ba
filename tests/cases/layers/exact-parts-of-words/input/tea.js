end)

x('detect_a')
end)

x('detect')
end)

x('detect_b')
