; What JavaScript and TypeScript share.
(comment) @comment
(decorator) @attribute
(export_statement) @whole
(lexical_declaration (variable_declarator) (variable_declarator)) @shared
(variable_declaration (variable_declarator) (variable_declarator)) @shared
; `a = b = c`.
(lexical_declaration
  (variable_declarator
    value: [(assignment_expression) (parenthesized_expression (assignment_expression))])) @shared
(variable_declaration
  (variable_declarator
    value: [(assignment_expression) (parenthesized_expression (assignment_expression))])) @shared

; `a = b || (c = {})`.
(lexical_declaration (variable_declarator value: [
      (binary_expression [(parenthesized_expression [(assignment_expression) (augmented_assignment_expression)]) (binary_expression (parenthesized_expression [(assignment_expression) (augmented_assignment_expression)]))])
      (ternary_expression (parenthesized_expression [(assignment_expression) (augmented_assignment_expression)]))
    ])) @shared
(variable_declaration (variable_declarator value: [
      (binary_expression [(parenthesized_expression [(assignment_expression) (augmented_assignment_expression)]) (binary_expression (parenthesized_expression [(assignment_expression) (augmented_assignment_expression)]))])
      (ternary_expression (parenthesized_expression [(assignment_expression) (augmented_assignment_expression)]))
    ])) @shared

(function_declaration name: (_) @name) @definition.function
(generator_function_declaration name: (_) @name) @definition.function
(class_declaration name: (_) @name) @definition.class
(method_definition name: (_) @name) @definition.method

; Functions and classes that have the name of a variable, a property or an assignment.
(lexical_declaration
  (variable_declarator name: (identifier) @name
    value: [(arrow_function) (function_expression) (generator_function)])) @definition.function
(variable_declaration
  (variable_declarator name: (identifier) @name
    value: [(arrow_function) (function_expression) (generator_function)])) @definition.function
(lexical_declaration (variable_declarator name: (identifier) @name value: (class))) @definition.class
(pair key: (_) @name value: [(arrow_function) (function_expression) (generator_function)]) @definition.method
(expression_statement
  (assignment_expression
    left: (member_expression object: (_) @scope property: (_) @name)
    right: [(arrow_function) (function_expression) (generator_function)])) @definition.function
(expression_statement
  (assignment_expression
    left: (member_expression object: (_) @scope property: (_) @name)
    right: [(class) (object)])) @definition.constant

; Of other variables only those of the module.
(program (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.constant)
(program (variable_declaration (variable_declarator name: (identifier) @name)) @definition.variable)
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.constant)
(export_statement (variable_declaration (variable_declarator name: (identifier) @name)) @definition.variable)

; What is exported without a name.
(export_statement "default" @name value: (_) @definition.default)
