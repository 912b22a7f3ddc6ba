(comment) @comment
(decorated_definition) @whole
; `a = b = c`, and `a = (b := c)`.
(expression_statement
  (assignment
    right: [
      (assignment)
      (augmented_assignment)
      (parenthesized_expression (named_expression))
      (boolean_operator (parenthesized_expression (named_expression)))
      (conditional_expression (parenthesized_expression (named_expression)))
    ])) @shared

(class_definition name: (_) @name) @definition.class
(class_definition body: (block (function_definition name: (_) @name) @definition.method))
(class_definition
  body: (block (decorated_definition definition: (function_definition name: (_) @name) @definition.method)))
(function_definition name: (_) @name) @definition.function
(type_alias_statement left: (type (identifier) @name)) @definition.type
(module (expression_statement (assignment left: (identifier) @name)) @definition.variable)
