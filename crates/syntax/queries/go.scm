(comment) @comment

(function_declaration name: (_) @name) @definition.function
(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      type: [
        (type_identifier) @scope
        (pointer_type (type_identifier) @scope)
        (generic_type type: (_) @scope)
        (pointer_type (generic_type type: (_) @scope))
      ]))
  name: (_) @name) @definition.method
(method_elem name: (_) @name) @definition.method

; In brackets, each has its own lines; alone, it has those of the statement.
(type_declaration "(" (type_spec name: (_) @name) @definition.type)
(type_declaration "(" (type_alias name: (_) @name) @definition.type)
(type_declaration (type_spec name: (_) @name)) @definition.type
(type_declaration (type_alias name: (_) @name)) @definition.type
(source_file (const_declaration "(" (const_spec (identifier) @name) @definition.constant))
(source_file (const_declaration (const_spec (identifier) @name)) @definition.constant)
(source_file (var_declaration (var_spec_list (var_spec (identifier) @name) @definition.variable)))
(source_file (var_declaration (var_spec (identifier) @name)) @definition.variable)
