// What the tool `review` answers: the contract with `src/wire/review.rs`, which has the same names and says more.

export interface ReviewFile {
  path: string;
  change: 'create' | 'modify' | 'delete' | 'move';
  moved_from?: string;
  modes?: string;
  added: number;
  removed: number;
  hunks: number;
  lines?: number;
  encoding?: string;
  is_fixed?: boolean;
}

export interface ReviewHunk {
  file: number;
  numbers: number[];
  old: number;
  new: number;
  lines: string[];
  is_cut?: boolean;
  is_by_hand?: boolean;
  forgiven?: string;
}

export interface ReviewEntry {
  subject: 'preview' | 'edit' | 'approval';
  id: string;
  title: string;
  /** In milliseconds since 1970. */
  time: number;
  files: string[];
  is_undone?: boolean;
}

export interface ReviewPage {
  subject: 'preview' | 'edit' | 'approval' | 'session' | 'list';
  id: string;
  state: 'waiting' | 'applied' | 'lost' | 'made' | 'undone' | 'allowed' | 'denied';
  entries?: ReviewEntry[];
  rules?: string[];
  session?: string;
  edit?: string;
  applied?: number[];
  by_client?: boolean;
  folders?: string[];
  /** What a preview would make, for the call that applies what was shown. */
  shown?: string;
  stale: string[];
  made_by?: string;
  files?: ReviewFile[];
  together?: number[][];
  notes?: string[];
  fired?: string[];
  hunks: ReviewHunk[];
  total: number;
  next?: number;
  lines?: string[];
}

/** What a tool answers, as far as the page reads it. */
export interface ToolResult {
  content?: { type: string; text?: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}
