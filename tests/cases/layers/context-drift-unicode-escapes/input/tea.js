import a
import b

function run() {
  go('x');
}
