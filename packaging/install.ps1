# Installs Emend @VERSION@ for this user:
#
#     powershell -ExecutionPolicy Bypass -File install.ps1 [-To FOLDER] [-From FOLDER_OR_ADDRESS]
#
# It takes the archive from the release (or from where -From says), compares its SHA-256 with the one written below, tries
# the program, and only then puts it into its place, %LOCALAPPDATA%\Programs\emend or where -To says.
param(
    [string]$To = (Join-Path $env:LOCALAPPDATA 'Programs\emend'),
    [string]$From = '@RELEASE@'
)
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

#@IF x86_64-pc-windows-msvc
$name = 'emend-@VERSION@-x86_64-pc-windows-msvc'
$wanted = '@SHA256@'
#@END
if (-not [Environment]::Is64BitOperatingSystem) { throw 'Emend needs a 64-bit Windows. Nothing was installed.' }

$work = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid().ToString())
New-Item -ItemType Directory -Path $work | Out-Null
try {
    $archive = Join-Path $work 'archive.zip'
    if ($From -match '^https?://') {
        [Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12
        Invoke-WebRequest -UseBasicParsing -Uri "$From/$name.zip" -OutFile $archive
    } else {
        Copy-Item -Path (Join-Path $From "$name.zip") -Destination $archive
    }
    $found = (Get-FileHash -Algorithm SHA256 -Path $archive).Hash
    if ($found -ne $wanted) {
        throw "The archive is not the one of the release: its SHA-256 is $found, not $wanted. Nothing was installed."
    }
    Expand-Archive -Path $archive -DestinationPath $work
    $program = Join-Path (Join-Path $work $name) 'emend.exe'
    $said = & $program --version
    if ($LASTEXITCODE -ne 0) { throw 'The program does not start on this system. Nothing was installed.' }
    New-Item -ItemType Directory -Force -Path $To | Out-Null
    $place = Join-Path $To 'emend.exe'
    # A program that runs cannot be replaced, but it can be renamed.
    if (Test-Path $place) {
        Get-ChildItem -Path $To -Filter 'emend.exe.old-*' | Remove-Item -Force -ErrorAction SilentlyContinue
        Move-Item -Path $place -Destination "$place.old-$([Guid]::NewGuid())"
    }
    Move-Item -Path $program -Destination $place
    Write-Output "$said is $place"
    if (($env:PATH -split ';') -notcontains $To) {
        Write-Output "$To is not in your PATH: put it there, or name $place in full."
    }
} finally {
    Remove-Item -Recurse -Force -Path $work
}
