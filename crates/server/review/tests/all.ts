import './bridge.ts';
import './characters.ts';
import './lines.ts';
import './staging.ts';
