(function(asked)
  local became = {}
  for _, file in ipairs(asked) do became[file.path] = file.is_gone and 'gone' or 'there' end
  -- Links are followed. Of what is gone, only the folder can be.
  local loop = vim.uv or vim.loop
  local function real(name)
    local folder = loop.fs_realpath(vim.fn.fnamemodify(name, ':h'))
    local beside = folder and folder:gsub('/$', '') .. '/' .. vim.fn.fnamemodify(name, ':t')
    return loop.fs_realpath(name) or beside or name
  end
  local function reload(buffer)
    local lines = vim.api.nvim_buf_get_lines(buffer, 0, 2, false)
    if #lines == 1 and lines[1] == '' then
      -- The file may not have been there when it was opened; of that, checktime would ask a person.
      local shortmess = vim.o.shortmess
      vim.opt.shortmess:append('A')
      pcall(vim.api.nvim_buf_call, buffer, function() vim.cmd('silent! edit') end)
      vim.o.shortmess = shortmess
    else
      -- Whatever is said of autoread: nobody is asked.
      vim.cmd('augroup emend_reload')
      vim.cmd("autocmd FileChangedShell <buffer=" .. buffer .. "> let v:fcs_choice = 'reload'")
      vim.cmd('augroup END')
      vim.cmd('silent! checktime ' .. buffer)
      vim.cmd('autocmd! emend_reload')
      vim.cmd('augroup! emend_reload')
    end
  end
  local kept, count = {}, 0
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buffer)
    if name ~= '' and vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == '' then
      local now = became[real(name)]
      if now and vim.bo[buffer].modified then
        table.insert(kept, vim.fn.fnamemodify(name, ':t'))
      elseif now == 'there' then
        reload(buffer)
        count = count + 1
      end
    end
  end
  if #kept > 0 then
    local said = vim.fn.strtrans('Emend changed what is unsaved here: ' .. table.concat(kept, ', '))
    -- A line that does not fit would wait for a key.
    local room = math.max(10, vim.o.columns - 15)
    said = vim.fn.strcharpart(said, 0, room)
    while vim.fn.strdisplaywidth(said) > room do said = vim.fn.strcharpart(said, 0, vim.fn.strchars(said) - 1) end
    vim.api.nvim_echo({ { said, 'WarningMsg' } }, true, {})
  end
  return count
end)(_A)
