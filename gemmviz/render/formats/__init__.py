"""The formats that frames are saved in, a file each."""
