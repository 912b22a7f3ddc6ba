export CUPS=22
