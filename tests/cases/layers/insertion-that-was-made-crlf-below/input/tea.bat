IF 1 PAUSE
boil kettle.bat
IF 2 PAUSE
pour cup.bat
