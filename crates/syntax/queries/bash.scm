(comment) @comment
(declaration_command [(variable_assignment) (variable_name)] [(variable_assignment) (variable_name)]) @shared

(function_definition name: (_) @name) @definition.function
(program (variable_assignment name: (variable_name) @name) @definition.variable)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @definition.variable)
